/* Logarithm and exponential whose last bit is the same everywhere.
 *
 * libm's may differ in the last place between versions and machines, and one such bit, once in a
 * decision about virtual time, gives another run. These use only additions, multiplications and
 * divisions, which IEEE 754 fixes to the bit (the room is compiled with -ffp-contract=off, so that
 * none are fused; doubles must be evaluated as doubles, as on every 64-bit machine). Within 4 units
 * in the last place of the true value; some 10 to 20 ns. Method: argument reduction to a power of
 * two, then the series of atanh and of exp. */
#ifndef CLEAVE_RUNTIME_PORTABLE_H
#define CLEAVE_RUNTIME_PORTABLE_H

/* The natural logarithm of a normal positive number. */
double cleave__portable_log(double x);
/* e to the x; 0 below -700, infinite above 700. */
double cleave__portable_exp(double x);

#endif

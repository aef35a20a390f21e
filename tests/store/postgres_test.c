#include "contract.h"
int main(int argc, char **argv)
{
    return argc > 1 ? contract_run(argv[1]) : 1;
}

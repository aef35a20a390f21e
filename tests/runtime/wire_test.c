/* The wire format, and distributions from text: what is written is read back; every shortened or
 * altered frame is refused; draws have the shape they promise, to the bit on every machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/histogram.h"
#include "runtime/distribution.h"
#include "runtime/frame.h"
#include "runtime/portable.h"
#include "support/failalloc.h"
#include "support/property.h"

static bool frames_return(struct property_source *source, void *context)
{
    (void)context;
    enum { MOST = 100 };
    uint8_t body[MOST], bytes[CLEAVE_FRAME_HEADER_BYTES + MOST + 1];
    struct cleave_frame frame = {.kind = (uint32_t)property_draw(source, UINT32_MAX),
                                 .sender = (uint32_t)property_draw(source, UINT32_MAX),
                                 .receiver = (uint32_t)property_draw(source, UINT32_MAX),
                                 .length = (uint32_t)property_draw(source, MOST + 1),
                                 .flags = (uint8_t)property_draw(source, 3),
                                 .correlation = property_draw(source, UINT64_MAX) | 1,
                                 .sequence = property_draw(source, UINT64_MAX),
                                 .body = body};
    for (uint32_t i = 0; i < frame.length; i++)
        body[i] = (uint8_t)property_draw(source, 256);
    bool checked = property_draw(source, 2), good = true;
    size_t size = cleave__frame_bytes(&frame);
    cleave__frame_encode(&frame, checked, bytes);
    struct cleave_frame got;
    good = cleave__frame_decode(bytes, size, checked, &got, NULL) == CLEAVE_OK &&
           got.kind == frame.kind && got.sender == frame.sender && got.receiver == frame.receiver &&
           got.length == frame.length && (got.flags & ~CLEAVE_FRAME_CHECKED) == frame.flags &&
           got.correlation == frame.correlation && got.sequence == frame.sequence &&
           memcmp(got.body, body, frame.length) == 0;
    struct cleave_error error;
    for (size_t shorter = 0; good && shorter < size; shorter++)
        good = cleave__frame_decode(bytes, shorter, checked, &got, &error) == CLEAVE_CORRUPT;
    good = good && cleave__frame_decode(bytes, size + 1, checked, &got, &error) == CLEAVE_CORRUPT;
    if (!checked)
        return good && cleave__frame_decode(bytes, size, true, &got, &error) == CLEAVE_CORRUPT;
    /* Whatever bit is altered. */
    size_t bit = property_draw(source, size * 8);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    return good && cleave__frame_decode(bytes, size, true, &got, &error) == CLEAVE_CORRUPT;
}

static void frames(void **state)
{
    (void)state;
    assert_true(property_run("frames", frames_return, NULL, 2000));
}

static void logarithms(void **state)
{
    (void)state;
    struct cleave_random random;
    cleave__random_seed(&random, 1);
    for (int i = 0; i < 200000; i++) {
        double x = ldexp(1 + cleave__random_real(&random),
                         (int)cleave__random_between(&random, -1000, 1000));
        double y = (cleave__random_real(&random) - 0.5) * 1300;
        double l = log(x), e = exp(y);
        assert_true(fabs(cleave__portable_log(x) - l) <= fabs(l) * 1e-15 + 1e-16);
        assert_true(fabs(cleave__portable_exp(y) - e) <= e * 2e-15);
    }
    assert_true(cleave__portable_log(1) == 0 && cleave__portable_exp(0) == 1);
    assert_true(cleave__portable_exp(-800) == 0 && isinf(cleave__portable_exp(800)));
}

static struct cleave_distribution parsed(const char *text)
{
    struct cleave_distribution d;
    struct cleave_error error;
    if (cleave__distribution_parse(text, &d, &error))
        fail_msg("%s: %s", text, error.message);
    return d;
}

static double drawn(const char *text, double quantile, uint64_t *digest)
{
    enum { DRAWS = 200000 };
    struct cleave_distribution d = parsed(text);
    struct cleave_random random;
    struct cleave_histogram histogram = {0};
    cleave__random_seed(&random, 42);
    *digest = 0;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t ns = cleave__distribution_draw(&d, &random);
        assert_true(cleave__histogram_add(&histogram, ns, 1));
        *digest = cleave__mix64(*digest ^ ns);
    }
    double got = quantile < 0 ? cleave__histogram_mean(&histogram)
                              : (double)cleave__histogram_quantile(&histogram, quantile);
    cleave__histogram_free(&histogram);
    cleave__distribution_free(&d);
    return got;
}

static void close_to(const char *text, double quantile, double wanted, double share)
{
    uint64_t digest;
    double got = drawn(text, quantile, &digest);
    if (fabs(got - wanted) > share * wanted)
        fail_msg("%s at %g: %g, wanted %g", text, quantile, got, wanted);
}

static void shapes(void **state)
{
    (void)state;
    close_to("constant:2ms", -1, 2e6, 0);
    close_to("2.5ms", 1, 2.5e6, 0);
    close_to("uniform:1ms,3ms", -1, 2e6, 0.01);
    close_to("uniform:1ms,3ms", 0.25, 1.5e6, 0.01);
    close_to("lognormal:1ms,0.5", 0.5, 1e6, 0.01);
    close_to("lognormal:1ms,0.5", 0.841345, 1e6 * exp(0.5), 0.02);
    close_to("lognormal:1ms,0.5", -1, 1e6 * exp(0.125), 0.01);
    close_to("pareto:1ms,1.5", 0.5, 1e6 * pow(0.5, -1 / 1.5), 0.02);
    close_to("pareto:1ms,1.5", 0.99, 1e6 * pow(0.01, -1 / 1.5), 0.05);
    close_to("pareto:1ms,3", 0, 1e6, 0.001);
    close_to("pareto:1s,0.01", 1, (double)CLEAVE_DISTRIBUTION_MOST_NS, 0);
}

/* If one of these changes, runs of old seeds no longer repeat. */
static void draws_are_pinned(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t digest;
    } pins[] = {{"uniform:1ms,3ms", UINT64_C(0x197d767ae3d15aac)},
                {"lognormal:1ms,0.5", UINT64_C(0xf33608373dee46c4)},
                {"pareto:1ms,1.5", UINT64_C(0x4b2e5cbbabcb5f66)}};
    for (int i = 0; i < 3; i++) {
        uint64_t digest;
        drawn(pins[i].text, -1, &digest);
        if (digest != pins[i].digest)
            fail_msg("%s: %#llx", pins[i].text, (unsigned long long)digest);
    }
}

static void bad_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "2",
                                      "2 ms",
                                      "-1ms",
                                      "constant",
                                      "constant:",
                                      "constant:1ms,2ms",
                                      "constant:nan",
                                      "constant:0x1ms",
                                      "constant:1e3ms",
                                      "constant:1000001s",
                                      "constant:99999999999999999999999999999999999999s",
                                      "uniform:3ms,1ms",
                                      "uniform:1ms",
                                      "lognormal:1ms",
                                      "lognormal:1ms,",
                                      "lognormal:1ms,-1",
                                      "lognormal:1ms,1000",
                                      "pareto:1ms,0",
                                      "normal:1ms,1ms",
                                      "empirical:/nowhere/at/all"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cleave_distribution d = {.low_ns = 77};
        struct cleave_error error = {.message = ""};
        if (!cleave__distribution_parse(bad[i], &d, &error))
            fail_msg("'%s' was read", bad[i]);
        assert_true(error.message[0] && d.low_ns == 77);
    }
}

static char samples[] = "runtime-samples-XXXXXX";

static void write_samples(const char *text)
{
    FILE *file = fopen(samples, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool try_samples(void *context)
{
    struct cleave_distribution d;
    struct cleave_error error;
    enum cleave_status status = cleave__distribution_parse(context, &d, &error);
    if (!status)
        cleave__distribution_free(&d);
    return !status || status == CLEAVE_NO_MEMORY;
}

static void files_of_samples(void **state)
{
    (void)state;
    int descriptor = mkstemp(samples);
    assert_true(descriptor >= 0);
    close(descriptor);
    char text[100];
    snprintf(text, sizeof text, "empirical:%s", samples);
    write_samples("# measured\n 3ms\n1ms \n\n2ms\n");
    struct cleave_distribution d = parsed(text);
    assert_int_equal(d.sample_count, 3);
    assert_int_equal(d.samples[0], 1000000);
    cleave__distribution_free(&d);
    close_to(text, -1, 2e6, 0.01);
    assert_true(failalloc_run("samples", try_samples, text, 1));
    struct cleave_error error;
    write_samples("1ms\n2\n");
    assert_int_equal(cleave__distribution_parse(text, &d, &error), CLEAVE_BAD_INPUT);
    assert_non_null(strstr(error.message, ":2: no time"));
    write_samples("# none\n");
    assert_int_equal(cleave__distribution_parse(text, &d, &error), CLEAVE_BAD_INPUT);
    assert_non_null(strstr(error.message, "no samples"));
    unlink(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),    cmocka_unit_test(logarithms),
        cmocka_unit_test(shapes),    cmocka_unit_test(draws_are_pinned),
        cmocka_unit_test(bad_texts), cmocka_unit_test(files_of_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

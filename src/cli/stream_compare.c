/* cleave stream compare: the experiments of the paper on Tornado, each as tables and plots. */
#include <stdlib.h>

#include "cli/stream_compare.h"

static enum cleave_status run_parts(struct cleave_stream_compare_arguments *a,
                                    struct cleave_stream_compared *compared,
                                    struct cleave_error *error)
{
    struct cleave__compare_setting setting = {.play = a->play.play, .costs = a->costs};
    double x[CLEAVE_SWEEP_MAX];
    enum cleave_status status = CLEAVE_OK;
    for (uint32_t p = 0; p < a->part_count && !status; p++) {
        const struct cleave__compare_part *part = a->parts[p];
        struct cleave__compare_sink sink = {cleave__stream_compared_row, &compared[p]};
        setting.x = part->x;
        setting.x_count = part->x_count;
        if (a->sweep) {
            for (uint32_t i = 0; i < a->x.count; i++)
                x[i] = part->x_whole ? (double)a->x.value[i].whole : a->x.value[i].real;
            setting.x = x;
            setting.x_count = a->x.count;
        }
        status = part->run(&setting, &sink, error);
    }
    return status;
}

static enum cleave_status run(struct cleave_stream_compare_arguments *a,
                              struct cleave_stream_compared *compared,
                              struct cleave_terminal *terminal, struct cleave_error *error)
{
    struct cleave__stream_play *play = &a->play.play;
    cleave__stream_play_settle(&a->play, a->common.seed, &terminal->progress);
    cleave__stream_made_settle(&a->made, a->common.seed);
    play->made = &a->made.options;
    play->objects = a->play.objects;
    play->queries = a->play.queries;
    enum cleave_status status = CLEAVE_OK;
    a->costs.service = play->streaming.service;
    if (a->calibrate)
        status = cleave__stream_calibrate(play, &a->costs, error);
    cleave__compare_use(play, &a->costs, play->streaming.matcher);
    if (!status)
        status = run_parts(a, compared, error);
    cleave__terminal_clear(terminal);
    for (uint32_t p = 0; p < a->part_count && a->plot && !status; p++)
        status = cleave__stream_compared_draw(a, &compared[p], error);
    if (status)
        return status;
    return a->part_count ? cleave__stream_compared_print(a, compared, error)
                         : cleave__stream_costs_print(a, error);
}

int cleave__command_stream_compare(int argc, char **argv)
{
    static struct cleave_stream_compare_arguments a; /* large: faults, a sweep */
    static struct cleave_stream_compared compared[CLEAVE_STREAM_PARTS_MAX];
    struct cleave_terminal terminal;
    struct cleave_error error;
    cleave__stream_compare_parse(argc, argv, &a);
    for (uint32_t p = 0; p < a.part_count; p++)
        cleave__stream_compared_init(&compared[p], a.parts[p]);
    cleave__interrupt_catch();
    cleave__terminal_init(&terminal, a.common.quiet);
    enum cleave_status status = run(&a, compared, &terminal, &error);
    cleave__terminal_clear(&terminal);
    for (uint32_t p = 0; p < a.part_count; p++) {
        if (!status && !compared[p].verified)
            status = cleave_error_set(&error, CLEAVE_CORRUPT, "NOT verified: %s, %s",
                                      compared[p].part->name, compared[p].wrong);
        cleave__stream_compared_free(&compared[p]);
    }
    cleave__stream_play_release(&a.play);
    return status ? cleave__command_fail(&error) : CLEAVE_EXIT_OK;
}

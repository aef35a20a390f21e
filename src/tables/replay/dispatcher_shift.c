/* What a repartition adds to the dispatcher: plans by the map of the moment, and the gate's calls.
 *
 * A transaction is replayed if both placements can plan it. One that cannot be planned in between
 * (it pins its shard under both, but not its piece, say) waits until all has moved. */
#include "tables/replay/dispatcher.h"

#include <assert.h>
#include <string.h>

enum cleave_status cleave__dispatcher_watch(struct cleave__dispatcher *dispatcher,
                                            struct cleave_error *error)
{
    const struct cleave__dispatch_arguments *arguments = dispatcher->arguments;
    enum cleave_status status = cleave__shift_gate_new(
        arguments->mix, arguments->window,
        (enum cleave__shift_plant)arguments->options->shift_plant, &dispatcher->gate, error);
    if (!status)
        status = cleave__planner_new(cleave__mix_from(arguments->mix), &dispatcher->both[0], error);
    if (!status)
        status = cleave__planner_new(cleave__mix_to(arguments->mix), &dispatcher->both[1], error);
    return status;
}

enum cleave_status cleave__dispatcher_plan(struct cleave__dispatcher *dispatcher,
                                           const struct cleave_trace_transaction *transaction,
                                           struct cleave__dispatch_slot *slot, bool *waits,
                                           struct cleave_error *error)
{
    struct cleave_arena *arena = &slot->arena;
    enum cleave_status status = CLEAVE_OK;
    for (int i = 0; i < 2 && !status; i++) {
        struct cleave_arena_mark mark = cleave__arena_mark(arena);
        struct cleave__planned planned;
        status = cleave__planner_plan(dispatcher->both[i], transaction, 0, arena, &planned, error);
        cleave__arena_rewind(arena, mark);
    }
    if (status)
        return status;
    uint64_t number = dispatcher->admitted;
    status = cleave__planner_plan(dispatcher->planner, transaction, number, arena, &slot->planned,
                                  error);
    *waits = status == CLEAVE_UNSUPPORTED;
    return *waits ? cleave__planner_plan(dispatcher->both[1], transaction, number, arena,
                                         &slot->planned, error)
                  : status;
}

/* Plans a slot again, from the copy that its first plan kept of the trace. */
static enum cleave_status plan_again(struct cleave__dispatcher *dispatcher,
                                     struct cleave__dispatch_slot *slot, struct cleave_error *error)
{
    struct cleave_arena *arena = &slot->again;
    uint32_t count = slot->planned.statement_count;
    struct cleave__planned planned;
    struct cleave_trace_transaction transaction = {.statement_count = count};
    /* The texts may live in there: so what is planned now comes behind, until the slot is free. */
    struct cleave_trace_statement *statements =
        cleave__arena_zalloc(arena, (count + 1) * sizeof *statements);
    if (!statements)
        return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan");
    for (uint32_t s = 0; s < count; s++) {
        const struct cleave__planned_statement *from = &slot->planned.statements[s];
        struct cleave_parameter *parameters =
            cleave__arena_zalloc(arena, (from->parameter_count + 1) * sizeof *parameters);
        if (!parameters)
            return cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan");
        for (uint32_t p = 0; p < from->parameter_count; p++) {
            const char *text = from->parameters[p];
            parameters[p].is_null = !text;
            parameters[p].text = text;
            parameters[p].length = text ? strlen(text) : 0;
        }
        statements[s] = (struct cleave_trace_statement){from->text, strlen(from->text), parameters,
                                                        from->parameter_count};
    }
    transaction.statements = statements;
    enum cleave_status status = cleave__planner_plan(dispatcher->planner, &transaction,
                                                     slot->number, arena, &planned, error);
    if (status)
        return status;
    slot->planned = planned;
    slot->message.count = 0;
    cleave__planned_write(&slot->planned, slot->number, &slot->message);
    return slot->message.failed ? cleave_error_set(error, CLEAVE_NO_MEMORY, "no memory for a plan")
                                : CLEAVE_OK;
}

static void fail(struct cleave__dispatcher *dispatcher, struct cleave_context *context,
                 enum cleave_status status, const char *what)
{
    dispatcher->ended = true;
    cleave__context_fail(context, status, "%s", what);
}

bool cleave__dispatcher_pass(struct cleave__dispatcher *dispatcher, struct cleave_context *context,
                             uint32_t index, uint32_t place)
{
    struct cleave__shift_gate *gate = dispatcher->gate;
    struct cleave__dispatch_slot *slot = &dispatcher->slots[index];
    struct cleave_replay_counts *predicted = &dispatcher->result.predicted;
    struct cleave_error error = {0};
    enum cleave_status status = CLEAVE_OK;
    if (cleave__shift_gate_may_begin(gate, index) && cleave__shift_gate_outdated(gate, index)) {
        status = plan_again(dispatcher, slot, &error);
        if (!status)
            cleave__shift_gate_plan(gate, index, &slot->planned);
        else if (status == CLEAVE_UNSUPPORTED)
            cleave__shift_gate_wait(gate, index);
        else
            fail(dispatcher, context, status, error.message);
    }
    if (status || !cleave__shift_gate_may_begin(gate, index)) {
        if (!cleave__shift_gate_hold(gate, index, place))
            fail(dispatcher, context, CLEAVE_NO_MEMORY, "no memory for a transaction that waits");
        return false;
    }
    cleave__shift_gate_begin(gate, index);
    uint32_t parts = cleave__shardset_count(&slot->planned.shards);
    predicted->transactions++;
    predicted->parts += parts;
    predicted->distributed += parts > 1;
    predicted->read_only_distributed += parts > 1 && !slot->planned.writes;
    predicted->write_distributed += parts > 1 && slot->planned.writes;
    return true;
}

/* It was rolled back, which was not predicted. */
static void forget_predicted(struct cleave_replay_counts *predicted,
                             const struct cleave__planned *planned)
{
    uint32_t parts = cleave__shardset_count(&planned->shards);
    predicted->transactions--;
    predicted->parts -= parts;
    predicted->distributed -= parts > 1;
    predicted->read_only_distributed -= parts > 1 && !planned->writes;
    predicted->write_distributed -= parts > 1 && planned->writes;
}

void cleave__dispatcher_over(struct cleave__dispatcher *dispatcher, struct cleave_context *context,
                             uint32_t index)
{
    const struct cleave__dispatch_slot *slot = &dispatcher->slots[index];
    bool distributed = slot->outcome.parts > 1, writes = slot->planned.writes;
    bool after = dispatcher->gone && cleave__mix_done(dispatcher->arguments->mix);
    struct cleave_replay_counts *phase = &dispatcher->result.phase[dispatcher->gone + after];
    if (slot->outcome.failure) {
        forget_predicted(&dispatcher->result.predicted, &slot->planned);
    } else {
        phase->transactions++;
        phase->parts += slot->outcome.parts;
        phase->distributed += distributed;
        phase->read_only_distributed += distributed && !writes;
        phase->write_distributed += distributed && writes;
    }
    if (!cleave__shift_gate_end(dispatcher->gate, context, index, &slot->planned, distributed))
        fail(dispatcher, context, CLEAVE_NO_MEMORY, "no memory for what was written");
    dispatcher->result.shift.held = cleave__shift_gate_held(dispatcher->gate);
    /* In tests, which watch. */
    assert(!dispatcher->arguments->world->at || cleave__shift_gate_check(dispatcher->gate));
}

void cleave__dispatcher_go(struct cleave__dispatcher *dispatcher, struct cleave_context *context)
{
    if (dispatcher->gone ||
        (!dispatcher->ended &&
         dispatcher->result.read < dispatcher->arguments->options->repartition_at))
        return;
    dispatcher->gone = true;
    cleave__context_send(context, *dispatcher->arguments->mover, CLEAVE__SHIFT_GO, NULL, 0);
}

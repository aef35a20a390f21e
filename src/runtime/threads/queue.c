#include "runtime/threads/crew.h"

static uint32_t append(struct cleave__worker *worker, struct cleave__box *box)
{
    pthread_mutex_lock(&worker->lock);
    box->next = NULL;
    *worker->end = box;
    worker->end = &box->next;
    uint32_t length = ++worker->length;
    pthread_mutex_unlock(&worker->lock);
    return length;
}

static struct cleave__box *take(struct cleave__worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct cleave__box *box = worker->first;
    if (box) {
        worker->first = box->next;
        if (!worker->first)
            worker->end = &worker->first;
        worker->length--;
    }
    pthread_mutex_unlock(&worker->lock);
    return box;
}

void cleave__crew_requeue(struct cleave__worker *worker, struct cleave__box *box)
{
    struct cleave__crew *crew = worker->crew;
    /* Without the crew's lock a call may be missed: who waits looks again in a millisecond. */
    if (append(worker, box) >= 2 && atomic_load_explicit(&crew->idle, memory_order_relaxed))
        pthread_cond_signal(&crew->change);
}

void cleave__crew_runnable(struct cleave__crew *crew, struct cleave__worker *worker,
                           struct cleave__box *box)
{
    atomic_fetch_add_explicit(&crew->active, 1, memory_order_relaxed);
    cleave__crew_requeue(worker ? worker : &crew->workers[box->actor->number % crew->worker_count],
                         box);
}

struct cleave__box *cleave__crew_find(struct cleave__worker *worker)
{
    struct cleave__crew *crew = worker->crew;
    struct cleave__box *box = take(worker);
    for (uint32_t i = 1; !box && i < crew->worker_count; i++)
        box = take(&crew->workers[(worker->number + i) % crew->worker_count]);
    return box;
}

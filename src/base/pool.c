/* Threads that wait for work; see the header. One mutex guards it all: tasks are coarse. */
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

struct worker {
    struct cleave__pool *pool;
    pthread_t thread;
    uint32_t number;
};

struct cleave__pool {
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    struct worker *worker; /* [threads - 1] */
    uint32_t threads;      /* started, and the caller */
    bool ending;
    cleave__task *task;
    void *context;
    uint32_t count, next, running; /* of the work at hand */
};

/* Takes tasks until none is left. The mutex is held on entry and on return. */
static void take_tasks(struct cleave__pool *pool, uint32_t number)
{
    while (pool->next < pool->count) {
        uint32_t mine = pool->next++;
        pool->running++;
        pthread_mutex_unlock(&pool->mutex);
        pool->task(pool->context, mine, number);
        pthread_mutex_lock(&pool->mutex);
        pool->running--;
    }
}

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    struct cleave__pool *pool = worker->pool;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->ending) {
        if (pool->next < pool->count) {
            take_tasks(pool, worker->number);
            if (pool->running == 0)
                pthread_cond_signal(&pool->done);
        } else {
            pthread_cond_wait(&pool->work, &pool->mutex);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Workers take no signals: those are the process's to handle. */
static void start_workers(struct cleave__pool *pool, uint32_t threads)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->threads < threads) {
        struct worker *worker = &pool->worker[pool->threads - 1];
        *worker = (struct worker){.pool = pool, .number = pool->threads};
        if (pthread_create(&worker->thread, NULL, run_worker, worker))
            break;
        pool->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct cleave__pool *cleave__pool_new(uint32_t threads)
{
    struct cleave__pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->threads = 1;
    if (threads > 1 && !(pool->worker = calloc(threads - 1, sizeof *pool->worker))) {
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    start_workers(pool, threads);
    return pool;
}

void cleave__pool_free(struct cleave__pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i + 1 < pool->threads; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->worker);
    free(pool);
}

uint32_t cleave__pool_threads(const struct cleave__pool *pool)
{
    return pool ? pool->threads : 1;
}

void cleave__pool_run(struct cleave__pool *pool, uint32_t count, cleave__task *task, void *context)
{
    if (!pool || pool->threads == 1 || count <= 1) {
        for (uint32_t i = 0; i < count; i++)
            task(context, i, 0);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->context = context;
    pool->count = count;
    pool->next = 0;
    pthread_cond_broadcast(&pool->work);
    take_tasks(pool, 0);
    while (pool->running)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pool->count = pool->next = 0;
    pthread_mutex_unlock(&pool->mutex);
}

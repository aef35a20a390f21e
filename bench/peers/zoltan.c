/* Zoltan's parallel hypergraph partitioner, PHG (Devine, Boman, Heaphy, Bisseling, Catalyurek
 * 2006), as one process and with its defaults: among these, nets of more than a quarter of the
 * vertices are left out. It sees the first weight only. What MPI needs to start and end is told
 * apart ("startup"). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trilinos/zoltan.h>

#include "peer.h"

static int count_vertices(void *data, int *status)
{
    *status = ZOLTAN_OK;
    return (int)((const struct peer_job *)data)->hypergraph->vertices;
}

static void list_vertices(void *data, int global_size, int local_size, ZOLTAN_ID_PTR global,
                          ZOLTAN_ID_PTR local, int weights, float *weight, int *status)
{
    (void)global_size, (void)local_size, (void)weights;
    const struct cleave_hypergraph *h = ((const struct peer_job *)data)->hypergraph;
    for (uint32_t v = 0; v < h->vertices; v++) {
        global[v] = local[v] = v;
        weight[v] = (float)h->vertex_weight[(size_t)v * h->weights];
    }
    *status = ZOLTAN_OK;
}

static void size_nets(void *data, int *lists, int *pins, int *format, int *status)
{
    const struct cleave_hypergraph *h = ((const struct peer_job *)data)->hypergraph;
    *lists = (int)h->nets;
    *pins = (int)h->net_offset[h->nets];
    *format = ZOLTAN_COMPRESSED_EDGE;
    *status = ZOLTAN_OK;
}

static void list_nets(void *data, int global_size, int lists, int pins, int format,
                      ZOLTAN_ID_PTR net, int *offset, ZOLTAN_ID_PTR pin, int *status)
{
    (void)global_size, (void)lists, (void)format;
    const struct cleave_hypergraph *h = ((const struct peer_job *)data)->hypergraph;
    for (uint32_t e = 0; e < h->nets; e++) {
        net[e] = e;
        offset[e] = (int)h->net_offset[e];
    }
    memcpy(pin, h->pin, (size_t)pins * sizeof *pin);
    *status = ZOLTAN_OK;
}

static void size_net_weights(void *data, int *count, int *status)
{
    *count = (int)((const struct peer_job *)data)->hypergraph->nets;
    *status = ZOLTAN_OK;
}

static void list_net_weights(void *data, int global_size, int local_size, int count, int weights,
                             ZOLTAN_ID_PTR global, ZOLTAN_ID_PTR local, float *weight, int *status)
{
    (void)global_size, (void)local_size, (void)weights;
    const struct cleave_hypergraph *h = ((const struct peer_job *)data)->hypergraph;
    for (int e = 0; e < count; e++) {
        global[e] = local[e] = (ZOLTAN_ID_TYPE)e;
        weight[e] = (float)h->net_weight[e];
    }
    *status = ZOLTAN_OK;
}

static void set_number(struct Zoltan_Struct *z, const char *name, const char *format, double value)
{
    char text[40];
    snprintf(text, sizeof text, format, value);
    if (Zoltan_Set_Param(z, name, text) != ZOLTAN_OK)
        peer_fail("Zoltan refuses %s = %s", name, text);
}

static struct Zoltan_Struct *set_up(struct peer_job *job)
{
    static const char *const fixed[][2] = {
        {"DEBUG_LEVEL", "0"},         {"LB_METHOD", "HYPERGRAPH"}, {"HYPERGRAPH_PACKAGE", "PHG"},
        {"LB_APPROACH", "PARTITION"}, {"OBJ_WEIGHT_DIM", "1"},     {"EDGE_WEIGHT_DIM", "1"},
        {"RETURN_LISTS", "PARTS"},
    };
    struct Zoltan_Struct *z = Zoltan_Create(MPI_COMM_WORLD);
    if (!z)
        peer_fail("Zoltan cannot start");
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (Zoltan_Set_Param(z, fixed[i][0], fixed[i][1]) != ZOLTAN_OK)
            peer_fail("Zoltan refuses %s = %s", fixed[i][0], fixed[i][1]);
    }
    if (Zoltan_Set_Param(z, "PHG_CUT_OBJECTIVE", job->connectivity ? "CONNECTIVITY" : "HYPEREDGES"))
        peer_fail("Zoltan refuses the objective");
    set_number(z, "NUM_GLOBAL_PARTS", "%.0f", job->blocks);
    set_number(z, "IMBALANCE_TOL", "%.9g", 1 + job->epsilon);
    set_number(z, "SEED", "%.0f", job->seed);
    Zoltan_Set_Num_Obj_Fn(z, count_vertices, job);
    Zoltan_Set_Obj_List_Fn(z, list_vertices, job);
    Zoltan_Set_HG_Size_CS_Fn(z, size_nets, job);
    Zoltan_Set_HG_CS_Fn(z, list_nets, job);
    Zoltan_Set_HG_Size_Edge_Wts_Fn(z, size_net_weights, job);
    Zoltan_Set_HG_Edge_Wts_Fn(z, list_net_weights, job);
    return z;
}

int main(int argc, char **argv)
{
    struct peer_job job;
    peer_start(&job, argc, argv);
    double before = peer_cpu();
    MPI_Init(&argc, &argv);
    float version;
    Zoltan_Initialize(argc, argv, &version);
    job.startup = peer_cpu() - before;
    struct Zoltan_Struct *z = set_up(&job);
    int changes, global_size, local_size, imports, exports;
    ZOLTAN_ID_PTR import_global, import_local, export_global, export_local;
    int *import_process, *import_part, *export_process, *export_part;
    before = peer_cpu();
    int status =
        Zoltan_LB_Partition(z, &changes, &global_size, &local_size, &imports, &import_global,
                            &import_local, &import_process, &import_part, &exports, &export_global,
                            &export_local, &export_process, &export_part);
    job.call = peer_cpu() - before;
    if (status != ZOLTAN_OK && status != ZOLTAN_WARN)
        peer_fail("Zoltan failed with status %d", status);
    int *block = peer_allocate(job.hypergraph->vertices, sizeof *block);
    for (int i = 0; i < exports; i++)
        block[export_global[i]] = export_part[i];
    Zoltan_LB_Free_Part(&import_global, &import_local, &import_process, &import_part);
    Zoltan_LB_Free_Part(&export_global, &export_local, &export_process, &export_part);
    Zoltan_Destroy(&z);
    before = peer_cpu();
    MPI_Finalize();
    job.startup += peer_cpu() - before;
    peer_finish(&job, block);
    free(block);
    return 0;
}

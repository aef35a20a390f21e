/* The placers there are. To add one: its file, its row. */
#include <stdio.h>
#include <string.h>

#include "place/placer.h"

static const struct cleave__placer placers[] = {
    {{"multilevel", "few nets cut, every weight balanced (the default)"}, cleave__place_multilevel},
    {{"hash", "by a fixed hash of the vertex number, in proportion"}, cleave__place_hash},
    {{"range", "consecutive vertices, even in the first weight"}, cleave__place_range},
    {{"round-robin", "vertices dealt out in turn, in proportion"}, cleave__place_round_robin},
    {{"ldg", "in one pass, where neighbours are and room is"}, cleave__place_ldg},
    {{"fennel", "in one pass, by neighbours less a rising price of size"}, cleave__place_fennel},
    {{"restream", "ten passes of either, the best kept"}, cleave__place_restream},
    {{"community", "communities dealt out in turn"}, cleave__place_community},
    {{"balanced", "whole communities, the largest first, to the least loaded"},
     cleave__place_balanced},
    {{"balanced-split", "the same, those too large divided"}, cleave__place_balanced_split},
};

enum { PLACERS = sizeof placers / sizeof placers[0] };

const struct cleave__placer *cleave__placer_find(const char *name)
{
    if (!name)
        return &placers[0];
    for (uint32_t i = 0; i < PLACERS; i++) {
        if (!strcmp(placers[i].info.name, name))
            return &placers[i];
    }
    return NULL;
}

void cleave__placer_names(char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = 0;
    for (uint32_t i = 0; i < PLACERS && used < size; i++) {
        int n = snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", placers[i].info.name);
        used += n > 0 ? (size_t)n : 0;
    }
}

const struct cleave_placer_info *cleave_placer_at(uint32_t index)
{
    return index < PLACERS ? &placers[index].info : NULL;
}

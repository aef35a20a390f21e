/* Random layouts of the tables of random_sql.h. */
#ifndef CLEAVE_TESTS_ORACLE_RANDOM_LAYOUT_H
#define CLEAVE_TESTS_ORACLE_RANDOM_LAYOUT_H

#include "support/property.h"
#include "world.h"

/* Replaces world->layout; memory comes from world->arena. `copies`: some tables have a second key.
 */
void random_layout(struct property_source *source, struct world *world, bool copies);
void random_layout_print(const struct cleave_layout *layout);

#endif

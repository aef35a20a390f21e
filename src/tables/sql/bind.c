/* Template + constants -> accesses. See program.h. */
#include <string.h>

#include "tables/sql/number.h"
#include "tables/sql/program.h"

static void *allocate(struct cleave_binding *b, size_t count, size_t size)
{
    void *result = cleave__arena_array(b->arena, count, size);
    if (!result)
        b->out_of_memory = true;
    return result;
}

/* The value a column takes when `expression` is stored in it; false when that is not surely known
 * (rounding, cutting, types whose texts are not unique). */
static bool stored_value(struct cleave_binding *b, const struct cleave_expression *expression,
                         const struct cleave_domain_type *type, struct cleave_value *out)
{
    if (!expression || type->family == CLEAVE_FAMILY_OPAQUE)
        return false;
    struct cleave_scalar scalar = cleave__scalar(b, expression);
    if (!cleave__scalar_convert(b, &scalar, type, out))
        return false;
    if (out->kind == CLEAVE_NULL)
        return true;
    switch (type->family) {
    case CLEAVE_FAMILY_INTEGER:
        return out->kind == CLEAVE_INTEGER; /* else it is rounded */
    case CLEAVE_FAMILY_NUMERIC: {
        const char *point = memchr(out->text, '.', out->length);
        return !point || type->modifier < 0 ||
               out->text + out->length - point - 1 <= type->modifier;
    }
    case CLEAVE_FAMILY_STRING:
    case CLEAVE_FAMILY_CHAR:
        return type->modifier < 0 || out->length <= (uint32_t)type->modifier ||
               (out->length > 0 && out->text[out->length - 1] != ' ');
    case CLEAVE_FAMILY_TIMESTAMP:
    case CLEAVE_FAMILY_TIMESTAMPTZ:
    case CLEAVE_FAMILY_TIME:
        return type->modifier < 0 || type->modifier >= 6 || out->integer % 1000000 == 0;
    case CLEAVE_FAMILY_DATE:
        return out->integer % INT64_C(86400000000) == 0;
    default:
        return true;
    }
}

static bool point_term(struct cleave_binding *b, uint32_t column, struct cleave_value value,
                       struct cleave_term *out)
{
    struct cleave_range *range = allocate(b, 1, sizeof *range);
    if (!range)
        return false;
    *range = (struct cleave_range){.low = value, .high = value};
    *out = (struct cleave_term){column, 1, range};
    return true;
}

/* One box a row of VALUES. */
static void row_boxes(struct cleave_binding *b, const struct cleave_program *program,
                      const struct cleave_catalog *catalog, struct cleave_boxes *out)
{
    const uint8_t *keep = catalog->keep[program->table];
    const struct cleave_domain_type *types = catalog->types[program->table];
    uint32_t kept = 0;
    for (uint32_t c = 0; c < program->column_count; c++)
        kept += keep[program->columns[c]] != 0;
    struct cleave_box *boxes = allocate(b, program->row_count, sizeof *boxes);
    struct cleave_term *terms = allocate(b, (size_t)program->row_count * kept, sizeof *terms);
    if (!boxes || !terms)
        return;
    for (uint32_t r = 0; r < program->row_count; r++) {
        const struct cleave_expression **values =
            program->values + (size_t)r * program->column_count;
        boxes[r] = (struct cleave_box){0, terms};
        for (uint32_t c = 0; c < program->column_count; c++) {
            uint32_t column = program->columns[c];
            struct cleave_value value;
            if (!keep[column] || !stored_value(b, values[c], &types[column], &value))
                continue;
            if (!point_term(b, column, value, &boxes[r].terms[boxes[r].term_count]))
                return;
            boxes[r].term_count++;
        }
        terms += boxes[r].term_count;
    }
    *out = (struct cleave_boxes){program->row_count, boxes};
}

/* New rows of INSERT ... SELECT are described by the same columns as those of VALUES. */
static void keep_columns(struct cleave_boxes *boxes, const uint8_t *keep)
{
    for (uint32_t i = 0; i < boxes->count; i++) {
        struct cleave_box *box = &boxes->boxes[i];
        uint32_t n = 0;
        for (uint32_t t = 0; t < box->term_count; t++) {
            if (keep[box->terms[t].column])
                box->terms[n++] = box->terms[t];
        }
        box->term_count = n;
    }
}

static const struct cleave_term *find_term(const struct cleave_box *box, uint32_t column)
{
    for (uint32_t t = 0; t < box->term_count; t++) {
        if (box->terms[t].column == column)
            return &box->terms[t];
    }
    return NULL;
}

static bool is_null_point(const struct cleave_term *term)
{
    return term->range_count == 1 && term->ranges[0].flags == 0 &&
           term->ranges[0].low.kind == CLEAVE_NULL;
}

/* The rows already there that new rows may collide with: the same values in one key's columns. */
static void conflict_boxes(struct cleave_binding *b, const struct cleave_program *program,
                           const struct cleave_boxes *rows, struct cleave_boxes *out)
{
    struct cleave_box *boxes = allocate(b, (size_t)rows->count * program->key_count, sizeof *boxes);
    uint32_t n = 0;
    if (!boxes)
        return;
    for (uint32_t k = 0; k < program->key_count; k++) {
        const struct cleave_key *key = &program->keys[k];
        for (uint32_t r = 0; r < rows->count; r++) {
            struct cleave_term *terms = allocate(b, key->count, sizeof *terms);
            if (!terms)
                return;
            uint32_t count = 0;
            bool null = false;
            for (uint32_t c = 0; c < key->count; c++) {
                const struct cleave_term *term = find_term(&rows->boxes[r], key->columns[c]);
                if (!term)
                    continue;
                null |= is_null_point(term);
                uint32_t at = count++;
                for (; at > 0 && terms[at - 1].column > term->column; at--)
                    terms[at] = terms[at - 1];
                terms[at] = *term;
            }
            if (!null)
                boxes[n++] = (struct cleave_box){count, terms};
        }
    }
    *out = (struct cleave_boxes){n, boxes};
}

/* Where rows go that an UPDATE gives new values. */
static void moved_boxes(struct cleave_binding *b, const struct cleave_program *program,
                        const struct cleave_domain_type *types, struct cleave_boxes *boxes)
{
    struct cleave_box *moved = allocate(b, boxes->count, sizeof *moved);
    if (!moved)
        return;
    for (uint32_t i = 0; i < boxes->count; i++) {
        const struct cleave_box *box = &boxes->boxes[i];
        struct cleave_term *terms =
            allocate(b, (size_t)box->term_count + program->assigned_count, sizeof *terms);
        if (!terms)
            return;
        uint32_t n = 0, t = 0;
        for (uint32_t a = 0; a <= program->assigned_count; a++) {
            const struct cleave_assignment *assigned =
                a < program->assigned_count ? &program->assigned[a] : NULL;
            while (t < box->term_count && (!assigned || box->terms[t].column < assigned->column))
                terms[n++] = box->terms[t++];
            if (!assigned)
                break;
            if (t < box->term_count && box->terms[t].column == assigned->column)
                t++;
            struct cleave_value value;
            if (stored_value(b, assigned->value, &types[assigned->column], &value)) {
                if (!point_term(b, assigned->column, value, &terms[n]))
                    return;
                n++;
            }
        }
        moved[i] = (struct cleave_box){n, terms};
    }
    boxes->boxes = moved;
}

enum cleave_status cleave__template_bind(const struct cleave_template *template_,
                                         const struct cleave_catalog *catalog,
                                         struct cleave_binding *binding,
                                         struct cleave_statement *out)
{
    struct cleave_access *accesses = allocate(binding, template_->program_count, sizeof *accesses);
    if (!accesses)
        return CLEAVE_NO_MEMORY;
    for (uint32_t i = 0; i < template_->program_count; i++) {
        const struct cleave_program *program = &template_->programs[i];
        struct cleave_boxes boxes = {0, NULL};
        if (program->predicate)
            cleave__predicate_boxes(binding, program->predicate, &boxes);
        else
            row_boxes(binding, program, catalog, &boxes);
        if (binding->out_of_memory)
            return CLEAVE_NO_MEMORY;
        if (program->conflict)
            conflict_boxes(binding, program, &boxes, &boxes);
        else if (program->insert && program->predicate)
            keep_columns(&boxes, catalog->keep[program->table]);
        if (program->assigned_count)
            moved_boxes(binding, program, catalog->types[program->table], &boxes);
        if (binding->out_of_memory)
            return CLEAVE_NO_MEMORY;
        accesses[i] = (struct cleave_access){
            .table = program->table,
            .write = program->write,
            .locks = program->locks,
            .insert = program->insert,
            .box_count = boxes.count,
            .boxes = boxes.boxes,
        };
    }
    out->kind = template_->kind;
    out->unknown_tables = template_->unknown_tables;
    out->opaque = template_->opaque;
    out->access_count = template_->program_count;
    out->accesses = accesses;
    return CLEAVE_OK;
}

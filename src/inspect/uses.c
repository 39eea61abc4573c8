/* SPDX-License-Identifier: MIT */
#include "inspect/inspect.h"
#include "inspect/signature.h"
#include "inspect/variadic.h"

static void add_piece(const struct cp_piece *piece, struct cp_uses *uses)
{
	switch ((enum cp_piece_where)piece->where) {
	case CP_PIECE_REGISTER:
	case CP_PIECE_MEMORY:
		uses->general |= UINT64_C(1) << piece->number;
		break;
	case CP_PIECE_SUM:
		if (piece->number != UINT8_MAX)
			uses->general |= UINT64_C(1) << piece->number;
		break;
	case CP_PIECE_VECTOR:
		uses->vectors |= (uint16_t)(1u << piece->number);
		break;
	case CP_PIECE_NOWHERE:
	case CP_PIECE_IMPLIED:
	case CP_PIECE_CONSTANT:
		break;
	case CP_PIECE_X87:
		uses->x87 |= !piece->number;
		uses->others |= piece->number != 0;
		break;
	case CP_PIECE_COMPUTED:
		uses->others = true;
		break;
	}
}

static void add_place(const struct cp_signature *s, const struct cp_place *place,
		      struct cp_uses *uses)
{
	unsigned i;

	for (i = 0; i < place->count; i++)
		add_piece(&place->pieces[i], uses);
	if (place->confirmed)
		uses->general |= UINT64_C(1) << s->arch->result;
}

struct cp_uses cp_signature_uses(const struct cp_signature *signature, bool leave)
{
	struct cp_uses uses = { 0 };
	size_t i;

	if (leave) {
		if (signature->want & CP_SIGNATURE_RESULT && signature->has_result)
			add_place(signature, &signature->result.place, &uses);
		uses.others |= signature->want & CP_SIGNATURE_LOCALS;
		return uses;
	}
	if (!(signature->want & CP_SIGNATURE_ARGUMENTS))
		return uses;
	for (i = 0; i < signature->shown_count; i++)
		add_place(signature, &signature->shown[i].place, &uses);
	if (signature->chosen && !signature->arguments_too)
		return uses;
	for (i = 0; i < signature->parameter_count; i++)
		add_place(signature, &signature->parameters[i].place, &uses);
	uses.others |= cp_variadic_is_told(signature);
	return uses;
}

/* SPDX-License-Identifier: MIT
 *
 * Functions whose names only the DIEs around them complete, very many in one
 * unit: each is named, before what one question may cost is used up.
 */
#include "image/image.h"
#include "image/lines.h"
#include "test.h"

#define FUNCTIONS 20000

int main(int argc, char **argv)
{
	struct cp_source_functions functions = { 0 };
	struct cp_image *image = NULL;
	size_t i, named = 0;

	CHECK(argc == 2);
	CHECK_OK(cp_image_open_file(argv[1], NULL, &image));
	CHECK_OK(cp_image_source_functions(image, &functions));
	CHECK_U64(functions.items.count, FUNCTIONS);
	for (i = 0; i < functions.items.count; i++)
		named += !strcmp(functions.items.items[i].name, "(anonymous namespace)::in::f");
	CHECK_U64(named, FUNCTIONS);
	cp_source_functions_free(&functions);
	cp_image_destroy(image);
	TEST_MAIN_END;
}

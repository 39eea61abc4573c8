#include "image/internal.h"
#include "image/debuginfo.h"
void cp_dwarf_destroy(struct cp_dwarf *dwarf)
{
	(void)dwarf;
}
size_t cp_image_frames(struct cp_image *image, struct cp_vaddr at, struct cp_inline_frame *frames,
		       size_t max)
{
	(void)image;
	(void)at;
	(void)frames;
	(void)max;
	return 0;
}

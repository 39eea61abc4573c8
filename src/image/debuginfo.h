#ifndef CP_IMAGE_DEBUGINFO_H
#define CP_IMAGE_DEBUGINFO_H
struct cp_dwarf;
void cp_dwarf_destroy(struct cp_dwarf *dwarf);
#endif

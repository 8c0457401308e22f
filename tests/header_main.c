/* Links one call of each kind from C. */

#include <clmove/clmove.h>

int main(void)
{
    struct clmove_engine *engine = NULL;

    clmove_engine_destroy(&engine);
    return clmove_version()[0] == '\0' ||
           clmove_status_name(CLMOVE_SUCCESS)[0] == '\0';
}

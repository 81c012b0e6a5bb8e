/* The commands of ops/bindings-test in C: drive FOLDER CATALOG KEY COMMAND [ARGUMENT...] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "offlinemaps.h"

_Static_assert(OFM_ABI_VERSION == 1 && OFM_WAITING == 0 && OFM_DONE == 5 && OFM_CANCELLED == 7, "the numbers of the interface");

/* What a progress function needs. */
struct run {
    ofm_download *volatile download;
    int cancels;
    double last;
};

static int fail(ofm_error *error) {
    fprintf(stderr, "error %s %s\n", ofm_error_code(error), ofm_error_message(error));
    ofm_error_free(error);
    return 1;
}

static void show(void *context, double fraction, uint64_t transferred, int32_t state, const char *text) {
    struct run *run = context;
    if (fraction < run->last || fraction > 1) fprintf(stderr, "error falls %g %g\n", run->last, fraction);
    run->last = fraction;
    printf("progress %.3f %llu %d %s\n", fraction, (unsigned long long)transferred, state, text);
    fflush(stdout);
    if (run->cancels && transferred > 100000) ofm_download_cancel(run->download);
}

static int finish(struct run *run) {
    int32_t ended = 0;
    ofm_error *error = ofm_download_wait(run->download, -1, &ended);
    ofm_download_free(run->download);
    if (error) return fail(error);
    if (!ended) return 1;
    puts("done");
    return 0;
}

static int print(ofm_error *error, ofm_data *data) {
    if (error) return fail(error);
    if (!data) {
        fputs("error absent\n", stderr);
        return 2;
    }
    fwrite(ofm_data_bytes(data), 1, ofm_data_length(data), stdout);
    ofm_data_free(data);
    return 0;
}

static int run(ofm_maps *maps, int count, char **words) {
    struct run run = {0};
    ofm_data *data = NULL;
    ofm_error *error = NULL;
    const char *command = words[0];
    if (count == 3 && (!strcmp(command, "get") || !strcmp(command, "cancel"))) {
        run.cancels = !strcmp(command, "cancel");
        ofm_download *download = NULL;
        error = ofm_maps_download(maps, words[1], words[2], run.cancels ? NULL : show, &run, &download);
        run.download = download;
        if (error) return fail(error);
        if (run.cancels) {
            /* The progress of a second loop on the same download cancels both. */
            ofm_download *other = NULL;
            if ((error = ofm_maps_download(maps, words[1], words[2], show, &run, &other))) return fail(error);
            int32_t ended = 0;
            error = ofm_download_wait(run.download, -1, &ended);
            ofm_download_cancel(other);
            ofm_error_free(ofm_download_wait(other, -1, &ended));
            ofm_download_free(other);
            ofm_download_free(run.download);
            return error ? fail(error) : 0;
        }
        return finish(&run);
    }
    if (count == 1 && !strcmp(command, "update")) {
        ofm_download *download = NULL;
        error = ofm_maps_update(maps, show, &run, &download);
        run.download = download;
        return error ? fail(error) : finish(&run);
    }
    if (count == 4 && !strcmp(command, "tile")) {
        error = ofm_maps_tile(maps, NULL, atoi(words[1]), atoi(words[2]), atoi(words[3]), &data);
    } else if (count == 3 && !strcmp(command, "style")) {
        error = ofm_maps_style(maps, words[1], words[2], &data);
    } else if (count == 1 && !strcmp(command, "installed")) {
        error = ofm_maps_installed(maps, &data);
    } else if (count == 1 && !strcmp(command, "updates")) {
        error = ofm_maps_catalog(maps, 0, &data);
        if (error) return fail(error);
        ofm_data_free(data);
        data = NULL;
        error = ofm_maps_updates(maps, &data);
    } else if (count == 1 && !strcmp(command, "verify")) {
        error = ofm_maps_verify(maps, &data);
    } else if (count == 2 && !strcmp(command, "search")) {
        error = ofm_maps_catalog(maps, 86400, &data);
        if (error) return fail(error);
        ofm_data_free(data);
        data = NULL;
        error = ofm_maps_search(maps, words[1], "en", &data);
    } else if (count == 2 && !strcmp(command, "remove")) {
        return (error = ofm_maps_remove(maps, words[1])) ? fail(error) : 0;
    } else {
        return 64;
    }
    return print(error, data);
}

int main(int count, char **words) {
    ofm_maps *maps = NULL;
    if (ofm_abi_version() != OFM_ABI_VERSION || count < 5) return 64;
    ofm_error *error = ofm_maps_open(words[1], words[2], words[3], getenv("CATALOG_TOKEN"), &maps);
    if (error) return fail(error);
    int status = run(maps, count - 4, words + 4);
    ofm_maps_free(maps);
    return status;
}

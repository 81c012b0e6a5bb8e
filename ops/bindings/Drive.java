import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import offlinemaps.Download;
import offlinemaps.OfflineMaps;
import offlinemaps.OfflineMapsException;
import offlinemaps.ProgressListener;

/** The commands of ops/bindings-test in Java: Drive FOLDER CATALOG KEY COMMAND [ARGUMENT...] */
final class Drive {
    private static volatile Download cancelled;

    public static void main(String[] words) throws Exception {
        int status;
        try (OfflineMaps maps = OfflineMaps.open(words[0], words[1], words[2], System.getenv("CATALOG_TOKEN"))) {
            status = run(maps, words);
        } catch (OfflineMapsException error) {
            System.err.println("error " + error.code() + " " + error.getMessage());
            status = 1;
        }
        System.out.flush();
        System.exit(status);
    }

    private static void show(double fraction, long transferred, ProgressListener.State state, String text) {
        System.out.printf(Locale.ROOT, "progress %.3f %d %d %s%n", fraction, transferred, state.ordinal(), text);
        System.out.flush();
        if (transferred > 100_000 && cancelled != null) {
            cancelled.cancel();
        }
    }

    private static int run(OfflineMaps maps, String[] words) throws Exception {
        switch (words[3]) {
            case "get":
                return end(maps.download(words[4], words[5], Drive::show));
            case "cancel":
                // The progress of a second one on the same download cancels the first, and closing cancels the second.
                try (Download first = maps.download(words[4], words[5], null);
                        Download second = maps.download(words[4], words[5], Drive::show)) {
                    cancelled = first;
                    first.await();
                    second.await();
                }
                return 0;
            case "interrupt":
                return interrupt(maps, words);
            case "update":
                return end(maps.update(Drive::show));
            case "tile":
                byte[] tile = maps.tile(null, Integer.parseInt(words[4]), Integer.parseInt(words[5]), Integer.parseInt(words[6]));
                if (tile == null) {
                    System.err.println("error absent");
                    return 2;
                }
                System.out.write(tile);
                return 0;
            case "style":
                System.out.println(maps.style(words[4], words[5]));
                return 0;
            case "installed":
                System.out.println(maps.installed());
                return 0;
            case "updates":
                maps.catalog(0);
                System.out.println(maps.updates());
                return 0;
            case "verify":
                System.out.println(maps.verify());
                return 0;
            case "search":
                maps.catalog(86_400);
                System.out.println(maps.search(words[4], "en"));
                return 0;
            case "remove":
                maps.remove(words[4]);
                return 0;
            default:
                return 64;
        }
    }

    /** An interrupt ends a wait, also one with a time; a listener may not wait. */
    private static int interrupt(OfflineMaps maps, String[] words) throws Exception {
        AtomicReference<Download> own = new AtomicReference<>();
        CompletableFuture<String> said = new CompletableFuture<>();
        try (Download download = maps.download(words[4], words[5], (fraction, transferred, state, text) -> {
            try {
                if (own.get() != null) {
                    own.get().await();
                    said.complete("no error");
                }
            } catch (OfflineMapsException | InterruptedException error) {
                said.complete(error.getMessage());
            }
        })) {
            own.set(download);
            System.out.println(said.get());
            Thread main = Thread.currentThread();
            for (long time : new long[] {-1, 3_600_000}) {
                Thread other = new Thread(() -> {
                    while (Arrays.stream(main.getStackTrace()).noneMatch(frame -> frame.getMethodName().equals("await"))) {
                        Thread.onSpinWait();
                    }
                    main.interrupt();
                });
                other.start();
                try {
                    if (time < 0) {
                        download.await();
                    } else {
                        download.await(time);
                    }
                } catch (InterruptedException error) {
                    System.out.println("interrupted");
                }
                other.join();
            }
            System.out.println(download.await(1));
        }
        return 0;
    }

    private static int end(Download download) throws Exception {
        try (Download own = download) {
            own.await();
        }
        System.out.println("done");
        return 0;
    }
}

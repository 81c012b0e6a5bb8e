// Installs or updates one package of a signed catalog. JDK 17 or newer, no library; needs Json.java beside it.
// usage: javac -d classes *.java; java -cp classes Install CATALOG-URL KEY-FILE ID FORMAT FOLDER      (FORMAT is mbtiles or pmtiles)
import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.security.*;
import java.util.*;

public class Install {
    static String base, id, format, why = "";
    static Path folder, keyFile;
    static HttpURLConnection get(String name, long from) throws IOException {
        var answer = (HttpURLConnection) URI.create(base + name).toURL().openConnection();
        answer.setConnectTimeout(60_000); answer.setReadTimeout(60_000); // of each read: a server may be silent
        if (from > 0) answer.setRequestProperty("Range", "bytes=" + from + "-");
        return answer.getResponseCode() / 100 == 2 ? answer : stop(name + ": " + answer.getResponseCode());
    }
    /** At most `limit` bytes: the signature does not fit a list that was cut. */
    static byte[] small(String name, int limit) throws IOException { return get(name, 0).getInputStream().readNBytes(limit); }
    static <T> T stop(String text) throws IOException { throw new IOException(text); }
    static String digest(InputStream body) throws Exception {
        var hash = MessageDigest.getInstance("SHA-256");
        try (var input = new DigestInputStream(body, hash)) { input.transferTo(OutputStream.nullOutputStream()); }
        return HexFormat.of().formatHex(hash.digest());
    }
    static Map<?, ?> catalog() throws Exception { // when it is signed with the key and not older than the last one
        byte[] body = small("catalog.json", 64 << 20), signed = small("catalog.json.sig", 1 << 20);
        var key = java.util.regex.Pattern.compile("ed25519-public:([A-Za-z0-9+/]{43}=)(?!\\S)").matcher(Files.readString(keyFile));
        if (!key.find()) stop("this is no public key");
        var own = Json.one(Json.list(Json.read(new String(signed, "UTF-8")), "signatures"), "sha256", digest(new ByteArrayInputStream(body)), "no signature is of this list: run again");
        var der = HexFormat.of().parseHex("302a300506032b6570032100" + HexFormat.of().formatHex(Base64.getDecoder().decode(key.group(1)))); // X.509 of the 32 bytes
        var proof = Signature.getInstance("Ed25519");
        proof.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new java.security.spec.X509EncodedKeySpec(der)));
        proof.update(body);
        if (!proof.verify(Base64.getDecoder().decode((String) own.get("signature")))) stop("the signature is wrong");
        var listed = (Map<?, ?>) Json.read(new String(body, "UTF-8"));
        if (!"packhorse-catalog".equals(listed.get("format")) || !Long.valueOf(1).equals(listed.get("format_version"))) stop("this list has another format");
        Path seen = folder.resolve("sequence"), next = folder.resolve("sequence.new");
        long sequence = listed.get("sequence") instanceof Long number ? number : 0;
        if (Files.exists(seen) && sequence < Long.parseLong(Files.readString(seen))) stop("this list is older than one that was seen before");
        try (var output = new FileOutputStream(next.toFile())) { output.write(Long.toString(sequence).getBytes()); output.getFD().sync(); }
        Files.move(next, seen, StandardCopyOption.ATOMIC_MOVE); // a reader sees the old file or the new one
        return listed;
    }
    static void install(String url, String sha256, long size, Path target) throws Exception {
        if (!sha256.matches("[0-9a-f]{64}") || url.matches("/.*|.*[:\\\\?#%].*|(.*/)?\\.\\.?(/.*)?")) stop("the list has a wrong digest or address");
        var part = folder.resolve(id + "." + format + "." + sha256.substring(0, 16) + ".part");
        for (var old : folder.toFile().listFiles((in, name) -> name.matches("\\Q" + id + "." + format + ".\\E.*\\.part")))
            if (!old.equals(part.toFile())) old.delete(); // of a version that is no longer the newest
        long have = Files.exists(part) ? Files.size(part) : 0;
        if (have < size) {
            var answer = get(url, have);
            if (answer.getResponseCode() != 206) have = 0; // this server sends the whole file
            try (var body = answer.getInputStream(); var output = new FileOutputStream(part.toFile(), have > 0)) {
                var piece = new byte[1 << 16];
                for (int n; have <= size && (n = body.read(piece)) >= 0; have += n) output.write(piece, 0, n);
                output.getFD().sync();
            } catch (IOException problem) { why = " (" + problem.getMessage() + ")"; } // the connection ended early; what came stays
        }
        if (have < size) stop("interrupted after " + have + " of " + size + " bytes" + why + ": run again, and it continues");
        if (have != size || !digest(Files.newInputStream(part)).equals(sha256)) { Files.delete(part); stop("the file is damaged: it was removed"); }
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
    }
    public static void main(String[] words) {
        try {
            if (words.length != 5) stop("usage: java -cp classes Install CATALOG-URL KEY-FILE ID FORMAT FOLDER");
            base = words[0].replaceAll("/*$", "/"); id = words[2]; format = words[3]; keyFile = Path.of(words[1]); folder = Files.createDirectories(Path.of(words[4]));
            var maps = Json.list(catalog(), "packages").stream().filter(each -> "".equals(each.get("edition"))).toList();
            var newest = Json.list(Json.one(maps, "id", id, "the catalog has no package " + id), "versions").get(0);
            var file = Json.one(Json.list(newest, "files"), "format", format, "the catalog has no " + format + " of " + id);
            Path target = folder.resolve(id + "." + format);
            boolean there = Files.exists(target) && digest(Files.newInputStream(target)).equals(file.get("sha256"));
            if (!there) install((String) file.get("url"), (String) file.get("sha256"), (Long) file.get("size"), target);
            System.out.println((there ? "version " + newest.get("version") + " is installed" : "installed version " + newest.get("version")));
        } catch (Exception problem) {
            System.err.println(problem.getClass() == IOException.class ? problem.getMessage() : problem);
            System.exit(1);
        }
    }
}

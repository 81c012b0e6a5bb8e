// Reads one tile of a PMTiles file and writes its bytes, as they are stored, to standard output. JDK 17 or newer, no library.
// usage: java Tile.java FILE Z X Y > tile
import java.io.*;
import java.nio.*;
import java.util.zip.GZIPInputStream;

public class Tile {
    static RandomAccessFile file;
    static byte[] read(long at, long length) throws IOException {
        if (at < 0 || length < 0 || length > file.length() - at) throw new IOException("a directory names bytes behind the end");
        var bytes = new byte[(int) length];
        file.seek(at); file.readFully(bytes);
        return bytes;
    }
    static long varint(InputStream input) throws IOException {
        for (long value = 0, shift = 0; ; shift += 7) {
            int next = input.read();
            if (next < 0 || shift > 56) throw new IOException("a directory ends too early");
            value |= (next & 127L) << shift;
            if (next < 128) return value;
        }
    }
    static long place(int z, long x, long y) { // a tile's place on the Hilbert curve, behind all lower zooms
        long sum = ((1L << 2 * z) - 1) / 3;
        for (long s = 1L << z >> 1; s > 0; s >>= 1) {
            boolean right = (x & s) != 0, up = (y & s) != 0;
            sum += s * s * ((right ? 3 : 0) ^ (up ? 1 : 0));
            if (up) continue;
            long turned = right ? s - 1 - x : x;
            x = right ? s - 1 - y : y;
            y = turned;
        }
        return sum;
    }
    /** Whether it is a tile (1) or a directory (0), its offset and its length; null when the directory has nothing for the tile. */
    static long[] find(InputStream input, long wanted) throws IOException {
        int count = Math.toIntExact(varint(input));
        if (count > 1 << 24) throw new IOException("a directory is too large");
        long[] ids = new long[count], runs = new long[count], lengths = new long[count];
        for (int i = 0; i < count; i++) ids[i] = varint(input) + (i > 0 ? ids[i - 1] : 0);
        for (int i = 0; i < count; i++) runs[i] = varint(input);
        for (int i = 0; i < count; i++) lengths[i] = varint(input);
        long at = 0;
        long[] found = null;
        for (int i = 0; i < count && ids[i] <= wanted; i++) { // the last one that begins at or before the tile
            long value = varint(input);
            at = value > 0 ? value - 1 : at + lengths[i - 1]; // 0: it follows the entry before
            found = runs[i] == 0 || wanted < ids[i] + runs[i] ? new long[] {Math.min(runs[i], 1), at, lengths[i]} : null;
        }
        return found;
    }
    static void tile(String[] words) throws IOException {
        if (words.length != 4) throw new IOException("usage: java -cp classes Tile FILE Z X Y > tile");
        file = new RandomAccessFile(words[0], "r");
        var head = ByteBuffer.wrap(read(0, 127)).order(ByteOrder.LITTLE_ENDIAN);
        boolean packed = head.get(97) == 2;
        if (!new String(head.array(), 0, 8, "ISO-8859-1").equals("PMTiles\3") || head.get(97) < 1 || head.get(97) > 2)
            throw new IOException("not a PMTiles 3 file, or its directories are not compressed with gzip");
        long wanted = place(Integer.parseInt(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
        long at = head.getLong(8), length = head.getLong(16);
        for (int depth = 0; depth < 4; depth++) { // the root, and leaves below it
            InputStream bytes = new ByteArrayInputStream(read(at, length));
            var found = find(new BufferedInputStream(packed ? new GZIPInputStream(bytes) : bytes), wanted);
            if (found == null) break;
            at = head.getLong(found[0] == 1 ? 56 : 40) + found[1];
            length = found[2];
            if (found[0] == 0) continue; // another directory
            System.out.write(read(at, length));
            System.out.flush();
            return;
        }
        throw new IOException("no such tile");
    }
    public static void main(String[] words) {
        try { tile(words); } catch (IOException | RuntimeException problem) {
            System.err.println(problem.getClass() == IOException.class ? problem.getMessage() : problem);
            System.exit(1);
        }
    }
}

// JSON as Java's own values: Map, List, String, Long, Double, Boolean, null. The JDK has no reader of JSON.
import java.util.*;

class Json {
    private final String text;
    private int at = 0;
    private Json(String text) { this.text = text; }

    /** The value of a document. Throws IllegalArgumentException for a text that is no JSON. */
    static Object read(String text) {
        var json = new Json(text);
        try {
            var value = json.value(0);
            if (json.next() != 0) throw new IllegalArgumentException("text after the JSON");
            return value;
        } catch (IndexOutOfBoundsException problem) {
            throw new IllegalArgumentException("the JSON ends too early", problem);
        }
    }

    private char next() { // the next character that is not white space, which stays; 0 at the end
        while (at < text.length() && text.charAt(at) <= ' ') at++;
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean take(char wanted) {
        boolean there = next() == wanted;
        if (there) at++;
        return there;
    }

    private void need(char wanted) {
        if (!take(wanted)) throw new IllegalArgumentException("no '" + wanted + "' at character " + at);
    }

    private Object value(int depth) {
        if (depth > 64) throw new IllegalArgumentException("the JSON is too deep");
        if (next() == '"') return string();
        if (take('{')) {
            var map = new HashMap<String, Object>();
            if (take('}')) return map;
            do {
                var name = string();
                need(':');
                map.put(name, value(depth + 1));
            } while (take(','));
            need('}');
            return map;
        }
        if (take('[')) {
            var list = new ArrayList<Object>();
            if (take(']')) return list;
            do list.add(value(depth + 1)); while (take(','));
            need(']');
            return list;
        }
        int begin = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
        return switch (text.substring(begin, at)) {
            case "true" -> Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            case "null" -> null;
            default -> number(text.substring(begin, at));
        };
    }

    private static Object number(String word) { return word.matches("-?\\d{1,18}") ? Long.valueOf(word) : (Object) Double.valueOf(word); }

    private String string() {
        need('"');
        var out = new StringBuilder();
        for (char c; (c = text.charAt(at++)) != '"'; ) {
            if (c == '\\') {
                c = text.charAt(at++);
                if (c == 'u') c = (char) Integer.parseInt(text.substring(at, at += 4), 16);
                else if ("bfnrt".indexOf(c) >= 0) c = "\b\f\n\r\t".charAt("bfnrt".indexOf(c));
            }
            out.append(c);
        }
        return out.toString();
    }
}

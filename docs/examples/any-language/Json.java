// JSON as Java's own values: Map, List, String, Long, Double, Boolean, null. The JDK has no reader of JSON.
import java.util.*;

class Json {
    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> list(Object map, String name) { return (List<Map<String, Object>>) ((Map<?, ?>) map).get(name); }
    /** The first object of a list whose member has the value, or an IOException with the text. */
    static Map<String, Object> one(List<Map<String, Object>> list, String name, Object value, String or) throws java.io.IOException {
        for (var each : list) if (value.equals(each.get(name))) return each;
        throw new java.io.IOException(or);
    }
    private final String text;
    private int at = 0;
    private Json(String text) { this.text = text; }

    /** The value of a document. Throws IllegalArgumentException for a text that is no JSON. */
    static Object read(String text) {
        var json = new Json(text);
        try {
            var value = json.value(0);
            if (json.next() == 0) return value;
            throw new IllegalArgumentException("text after the JSON");
        } catch (IndexOutOfBoundsException problem) {
            throw new IllegalArgumentException("the JSON ends too early", problem);
        }
    }
    private char next() { // the next character, which stays; not white space; 0 at the end
        while (at < text.length() && text.charAt(at) <= ' ') at++;
        return at < text.length() ? text.charAt(at) : 0;
    }
    private boolean take(char wanted) { return next() == wanted && ++at > 0; }
    private void need(char wanted) {
        if (!take(wanted)) throw new IllegalArgumentException("no '" + wanted + "' at character " + at);
    }
    private Object value(int depth) {
        if (depth > 64) throw new IllegalArgumentException("the JSON is too deep");
        if (next() == '"') return string(false);
        if (take('{')) {
            var map = new HashMap<String, Object>();
            if (!take('}')) {
                do map.put(string(true), value(depth + 1)); while (take(','));
                need('}');
            }
            return map;
        }
        if (take('[')) {
            var list = new ArrayList<Object>();
            if (!take(']')) {
                do list.add(value(depth + 1)); while (take(','));
                need(']');
            }
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

    private String string(boolean isName) {
        need('"');
        var out = new StringBuilder();
        for (char c; (c = text.charAt(at++)) != '"'; ) {
            if (c == '\\') {
                int known = "bfnrt".indexOf(c = text.charAt(at++));
                if (known >= 0) c = "\b\f\n\r\t".charAt(known);
                else if (c == 'u') c = (char) Integer.parseInt(text.substring(at, at += 4), 16);
            }
            out.append(c);
        }
        if (isName) need(':');
        return out.toString();
    }
}

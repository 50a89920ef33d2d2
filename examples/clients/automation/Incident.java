import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Opens and resolves ServiceNow incidents with HttpURLConnection, which sends a
 * POST again by itself when the connection breaks.
 *
 * <pre>
 * java Incident.java create URL URGENCY FAULT...
 * java Incident.java resolve URL SYS_ID
 * </pre>
 */
class Incident {
    private static final String TABLE = "/api/now/table/incident";
    private static final Pattern ID = Pattern.compile("\"sys_id\": *\"([0-9a-f]+)\"");

    public static void main(String[] args) throws IOException {
        String url = args[1] + TABLE;
        if (args[0].equals("resolve")) {
            send("PUT", url + "/" + args[2], "{\"state\":\"6\"}");
            System.out.println("resolved " + args[2]);
            return;
        }
        Arrays.stream(args).skip(3).map(fault -> new Thread(() -> create(url, args[2], fault))).forEach(Thread::start);
    }

    private static void create(String url, String urgency, String fault) {
        String body = String.format(
                "{\"cmdb_ci\":\"%s\",\"category\":\"disk\",\"urgency\":\"%s\",\"short_description\":\"disk full on %s at %d\"}",
                fault, urgency, fault, System.nanoTime());
        try {
            Matcher id = ID.matcher(send("POST", url, body));
            System.out.println(id.find() ? "told " + fault + " " + id.group(1) : "failed " + fault + " no sys_id");
        } catch (IOException e) {
            System.out.println("failed " + fault + " " + e);
        }
    }

    private static String send(String method, String url, String body) throws IOException {
        HttpURLConnection c = (HttpURLConnection) URI.create(url).toURL().openConnection();
        c.setRequestMethod(method);
        c.setDoOutput(true);
        c.setReadTimeout(Integer.parseInt(System.getenv().getOrDefault("TIMEOUT", "60")) * 1000);
        c.setRequestProperty("Content-Type", "application/json");
        c.setRequestProperty("Authorization", "Basic " + Base64.getEncoder().encodeToString("automation:secret".getBytes()));
        c.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        try (InputStream in = c.getInputStream()) { // an IOException from 400 on
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}

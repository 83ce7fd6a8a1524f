import java.nio.file.Path;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.harness.Neo4j;
import org.neo4j.harness.Neo4jBuilders;

/** A real Neo4j that speaks Bolt on 127.0.0.1. Arguments: folder, port. Prints its address, and ends with its input. */
public class Neo4jServer {
    public static void main(String[] args) throws Exception {
        SocketAddress address = new SocketAddress("127.0.0.1", Integer.parseInt(args[1]));
        try (Neo4j server = Neo4jBuilders.newInProcessBuilder(Path.of(args[0]))
                .withDisabledServer()
                .withConfig(BoltConnector.listen_address, address)
                .withConfig(BoltConnector.advertised_address, address)
                .build()) {
            System.out.println("ready " + server.boltURI());
            System.out.flush();
            while (System.in.read() >= 0) {
            }
        }
        System.exit(0);
    }
}

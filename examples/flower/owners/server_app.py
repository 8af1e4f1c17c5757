"""What the server runs: it passes the model on, and releases only the last one."""

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from dobrushin.flower import Journey, travel

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Visit all owners, then write the model, its certificate and the journal."""
    config = context.run_config
    journey, delta = Journey.from_config(config), float(config["delta"])
    arrival = travel(grid, journey, delta=delta, timeout=float(config["timeout"]), patience=float(config["patience"]))
    arrival.save(str(config["output"]))
    print("Against everybody who gets the model:", str(arrival.report).splitlines()[0])
    print("Against the server, which saw every model:", str(journey.against_server(delta)).splitlines()[0])

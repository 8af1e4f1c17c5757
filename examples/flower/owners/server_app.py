"""What the server runs: it passes the model on, and releases only the last one."""

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from dobrushin.flower import Journey, travel

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Visit all owners, then write the model, its certificate and the journal."""
    config = context.run_config
    journey = Journey.from_config(config)
    arrival = travel(grid, journey, delta=float(config["delta"]), timeout=float(config["timeout"]))
    arrival.save(str(config["output"]))
    against_server = journey.against_server(arrival.report.delta)
    print(f"Against everybody who gets the model: ε = {arrival.report.epsilon:.4g}, δ = {arrival.report.delta:g}.")
    print(f"Against the server, which saw every model on its way: ε = {against_server.epsilon:.4g}.")

// Loaded before git-api in its process: reports when git-api is ready, and its resource use.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const port = Number(process.env.PORT)
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

/** Reports the resident memory, and the delays of the event loop since the last report. */
process.on('message', () => {
  const figures = {
    residentMiB: process.memoryUsage.rss() / 2 ** 20,
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
  }
  delay.reset()
  process.send?.(figures)
})
process.once('disconnect', () => process.exit(0))

const isReady = () =>
  fetch(`http://127.0.0.1:${port}/-/readiness`).then(
    ({ ok }) => ok,
    () => false,
  )

/** Not awaited, so that git-api starts meanwhile. */
async function tellWhenReady() {
  while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50))
  delay.reset()
  process.send?.(port)
}
void tellWhenReady()

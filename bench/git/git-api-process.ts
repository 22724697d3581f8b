import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { configSchema } from '../../services/git-api/src/config.js'
import { createService } from '../../services/git-api/src/service.js'

/** What a process says about itself, since it was asked before. */
export interface ProcessFigures {
  residentMiB: number
  /** Of the event loop. */
  delayP99Ms: number
  delayMaxMs: number
}

const context = createServiceContext('git-api', 'info')
const { port } = await createService(configSchema.parse(process.env), context)
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

process.on('message', () => {
  const figures: ProcessFigures = {
    residentMiB: process.memoryUsage.rss() / 2 ** 20,
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
  }
  delay.reset()
  process.send?.(figures)
})
process.once('disconnect', () => process.exit(0))
const isReady = () => fetch(`http://127.0.0.1:${port}/-/readiness`).then(({ ok }) => ok)
while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50))
process.send?.(port)

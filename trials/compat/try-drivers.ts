import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Driver, isExpected, type Result, type Task } from './driver.js'
import { type Laboratory, openLaboratory } from './laboratory.js'
import { describeCall } from './recorder.js'
import { type Installed, install } from './tools.js'
import { Work } from './work.js'

/**
 * Makes a test of each task: that it has the result that its driver declares.
 *
 * @returns the results, which are complete after the tests
 */
export function tryDrivers(drivers: Driver[]): Result[] {
  const results: Result[] = []
  let lab: Laboratory
  beforeAll(async () => {
    lab = await openLaboratory()
  })
  afterAll(() => lab?.stop())
  for (const driver of drivers)
    describe(driver.tool, () => {
      let tool: Installed | undefined
      let missing = ''
      beforeAll(async () => {
        tool = await install(driver).catch((error: Error) => {
          missing = error.message.split('\n')[0] ?? ''
          return undefined
        })
      })
      for (const task of driver.tasks)
        it(task.title, async ({ skip }) => {
          if (!tool) {
            results.push({ driver, task, version: '', notRun: missing, refused: [] })
            return skip(missing)
          }
          const result = await tryTask(lab, tool, driver, task)
          results.push(result)
          if (isExpected(result)) return
          const problem = task.fails ? 'it works, and its driver says that it does not' : result.error
          throw new Error(`${problem}\nrefused: ${result.refused.join(', ')}`)
        })
    })
  return results
}

async function tryTask(lab: Laboratory, tool: Installed, driver: Driver, task: Task): Promise<Result> {
  const work = new Work(lab, tool)
  const before = lab.calls.length
  const { version } = tool
  let error: string | undefined
  try {
    await task.run(work)
  } catch (thrown) {
    error = String((thrown instanceof Error && thrown.message) || thrown)
  } finally {
    work.close()
  }
  const refused = lab.calls.slice(before).filter(({ status }) => status >= 400)
  const described = new Set(refused.map((call) => describeCall(call, work.projects)))
  return { driver, task, version, refused: [...described], ...(error !== undefined && { error }) }
}

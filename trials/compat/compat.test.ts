import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll } from 'vitest'
import { drivers } from './drivers.js'
import { renderPage } from './page.js'
import { tryDrivers } from './try-drivers.js'

const results = tryDrivers(drivers)

afterAll(() => {
  const tasks = drivers.reduce((sum, driver) => sum + driver.tasks.length, 0)
  const page = resolve(import.meta.dirname, '../../docs/compatibility.md')
  // A partial run, by `-t`, does not replace the page.
  if (results.length === tasks) writeFileSync(page, renderPage(results))
})

import { quickDrivers } from '../compat/drivers.js'
import { tryDrivers } from '../compat/try-drivers.js'

// The part of `pnpm test:compat` that is quick: docs/compatibility.md.
tryDrivers(quickDrivers)

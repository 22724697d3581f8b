import { quickDrivers } from '../compat/drivers.js'
import { tryDrivers } from '../compat/try-drivers.js'

// The quick part of `pnpm test:compat`: docs/compatibility.md.
tryDrivers(quickDrivers)

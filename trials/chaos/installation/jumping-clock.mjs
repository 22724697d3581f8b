// Loaded into a process before its own code: the file CLOCK_OFFSET_FILE contains the lead of its clock in
// seconds. It is read at the start and at each SIGUSR2.
import { readFileSync } from 'node:fs'

const RealDate = Date
let offsetMs = 0

class JumpingDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + offsetMs)
    else super(...given)
  }

  static now() {
    return RealDate.now() + offsetMs
  }
}

function jump() {
  offsetMs = Number(readFileSync(process.env.CLOCK_OFFSET_FILE ?? '', 'utf8')) * 1000
}

globalThis.Date = JumpingDate
process.on('SIGUSR2', jump)
jump()

// Loaded into a process before its own code: each SIGUSR2 sets its clock as CLOCK_JUMPS says next, in hours from now.
const jumps = (process.env.CLOCK_JUMPS ?? '').split(',').map(Number)
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

globalThis.Date = JumpingDate
process.on('SIGUSR2', () => {
  offsetMs = (jumps.shift() ?? 0) * 3_600_000
})

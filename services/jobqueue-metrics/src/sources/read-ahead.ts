/** Reads members of a set that is being asked for; `members` are its answer. Answers in the order of the members. */
export type ReadAhead = <Answer>(
  members: Promise<string[]>,
  read: (members: string[]) => Promise<Answer[]>,
) => Promise<Answer[]>

/**
 * Queues and processes rarely come and go. Those of the last time are read while it is asked who they are now, so
 * that a read takes one round trip and the server works on while names are understood; who is new is read afterwards,
 * who is gone left out.
 */
export function createReadAhead(): ReadAhead {
  let known: string[] = []
  return async (members, read) => {
    const ahead = known
    const [current, early] = await Promise.all([members, read(ahead)])
    known = current
    if (current.length === ahead.length && current.every((member, index) => member === ahead[index]))
      return early
    const answers = new Map(ahead.map((member, index) => [member, early[index]]))
    const added = current.filter((member) => !answers.has(member))
    const late = await read(added)
    added.forEach((member, index) => {
      answers.set(member, late[index])
    })
    return current.map((member) => answers.get(member) as (typeof early)[number])
  }
}

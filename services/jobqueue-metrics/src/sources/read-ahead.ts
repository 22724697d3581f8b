/**
 * Reads members of a set that is being asked for; `members` are its answer. Answers in the order of the members.
 *
 * @param read is told what was the answer for each member the last time
 */
export type ReadAhead<Answer> = (
  members: Promise<string[]>,
  read: (members: string[], before: (Answer | undefined)[]) => Promise<Answer[]>,
) => Promise<Answer[]>

/**
 * Queues and processes rarely come and go. Those of the last time are read while it is asked who they are now, so
 * that a read takes one round trip less; who is new is read afterwards, who is gone left out.
 */
export function createReadAhead<Answer>(): ReadAhead<Answer> {
  let known: string[] = []
  let answered: Answer[] = []
  return async (members, read) => {
    const ahead = known
    const [current, early] = await Promise.all([members, read(ahead, answered)])
    if (isSame(current, ahead)) {
      answered = early
    } else {
      answered = await completed(current, new Map(zip(ahead, early)), read)
      known = current
    }
    return answered
  }
}

const isSame = (some: string[], others: string[]) =>
  some.length === others.length && some.every((member, index) => member === others[index])

const zip = <Value>(keys: string[], values: Value[]) =>
  keys.map((key, index): [string, Value] => [key, values[index] as Value])

async function completed<Answer>(
  members: string[],
  answers: Map<string, Answer>,
  read: (members: string[], before: undefined[]) => Promise<Answer[]>,
): Promise<Answer[]> {
  const added = members.filter((member) => !answers.has(member))
  for (const [member, answer] of zip(added, await read(added, []))) answers.set(member, answer)
  return members.map((member) => answers.get(member) as Answer)
}

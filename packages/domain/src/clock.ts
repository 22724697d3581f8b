/** Returns the current time. It is passed to rules, so that they depend on their arguments only. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

export const dayMs = 86_400_000

/**
 * A function that returns the current time. Rules receive it, so that they depend on their arguments only.
 */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

export const dayMs = 86_400_000

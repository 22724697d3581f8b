/**
 * A function that returns the current time. Rules receive it, so that they depend on their arguments only.
 */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

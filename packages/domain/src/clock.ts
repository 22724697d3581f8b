/** Where rules get the time from. Passed in, so that a rule is a function of its arguments. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

import type { Dependencies } from '../dependencies.js'

/** @throws an error while the database is away */
export const showSystem = ({ readSystemState }: Dependencies) => readSystemState()

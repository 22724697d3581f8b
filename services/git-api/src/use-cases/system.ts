import type { Dependencies } from '../dependencies.js'

/** @throws an error while the database is unreachable */
export const showSystem = ({ readSystemState }: Dependencies) => readSystemState()

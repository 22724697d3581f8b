/** Redis channel on which the replicas of saga-reporter notify each other that the log has new entries, which they then read. */
export const sagaEventsChannel = 'switchyard:saga-events'

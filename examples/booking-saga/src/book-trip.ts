import type { Step } from './orchestrator.js'

/** The bookings of the three services; each booking is one line. */
export type Bookings = Set<string>

/**
 * Returns the steps of a trip: flight, hotel, payment. Payment succeeds with a valid card. With a stolen
 * card, undoing the hotel also fails at first.
 */
export function bookTrip(bookings: Bookings, trip: { traveller: string; card: string }): Step[] {
  const booking = (name: string, parameter: object): Step => ({
    name,
    parameter,
    execute: async () => {
      bookings.add(`${name} of ${trip.traveller}`)
      return { confirmation: `${name}-${trip.traveller}` }
    },
    // Undoing a booking that was never made is not an error, because a step that failed halfway is undone
    // too.
    compensate: async () => {
      bookings.delete(`${name} of ${trip.traveller}`)
    },
  })
  const payment = booking('payment', { amount: 840, currency: 'EUR' })
  const hotel = booking('hotel', { city: 'Lisbon', nights: 3 })
  let isHotelReachable = trip.card !== 'stolen'
  return [
    booking('flight', { from: 'BER', to: 'LIS', seats: 2 }),
    {
      ...hotel,
      compensate: async () => {
        const wasReachable = isHotelReachable
        isHotelReachable = true
        if (!wasReachable) throw new Error('the hotel does not answer')
        await hotel.compensate()
      },
    },
    {
      ...payment,
      execute: async () => {
        if (trip.card !== 'good') throw new Error(`the card was ${trip.card}`)
        return payment.execute()
      },
    },
  ]
}

import type { Step } from './orchestrator.js'

/** What the three services know; each booking is one line. */
export type Bookings = Set<string>

/**
 * The steps of a trip: flight, hotel, payment. The last one succeeds with a good card. With a stolen one the hotel cannot be
 * undone at first either.
 */
export function bookTrip(bookings: Bookings, trip: { traveller: string; card: string }): Step[] {
  const booking = (name: string, parameter: object): Step => ({
    name,
    parameter,
    execute: async () => {
      bookings.add(`${name} of ${trip.traveller}`)
      return { confirmation: `${name}-${trip.traveller}` }
    },
    // Undoing what was never done is no mistake: a step that failed halfway is undone too.
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

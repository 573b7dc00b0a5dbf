'use client'
import { PLACES, type Place } from './places'
import { useTenant } from './tenant-context'

/** The pages that the user's role has. */
export function usePlaces(): Place[] {
  const { may } = useTenant()
  return PLACES.filter(({ operation }) => operation === undefined || may(operation))
}

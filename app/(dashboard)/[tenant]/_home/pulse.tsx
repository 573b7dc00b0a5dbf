'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { pulseText } from './pulse-text'

/** The last 24 hours in one line. */
export function Pulse() {
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.home.pulse.queryOptions(), refetchInterval: 15_000 })
  return data ? <span>{pulseText(data)}</span> : null
}

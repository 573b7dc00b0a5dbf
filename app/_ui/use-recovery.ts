'use client'
import { useEffect, useState } from 'react'
import { isNetworkError, mayRecover } from './network'

/**
 * For screens that show an error: retries by itself once the network is back, if the network caused the error.
 * @returns whether it is waiting for that
 */
export function useRecovery(error: Error, retry: () => void): boolean {
  const [waiting, setWaiting] = useState(() => isNetworkError(error))
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each error, whose screen is a new one
  useEffect(() => {
    if (!waiting) return
    let left = false
    void mayRecover().then((may) => {
      if (left) return
      if (may) retry()
      else setWaiting(false)
    })
    return () => {
      left = true
    }
  }, [])
  return waiting
}

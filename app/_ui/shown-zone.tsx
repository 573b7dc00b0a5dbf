'use client'
import { useMounted } from '@mantine/hooks'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { ZONE_COOKIE } from './server-zone'
import { type TimeZone, useTimeZone } from './time-text'

const ServerZone = createContext('UTC')

/**
 * Tells the browser in which zone the server wrote its times, and the server which zone to write them in from the next page
 * on. Otherwise every time would change once a page has loaded, and where its sentence takes one line more, all below moves.
 */
export function ZoneProvider({ zone, children }: { zone: string; children: ReactNode }) {
  const [chosen] = useTimeZone()
  useEffect(() => {
    const name = chosen === 'local' ? new Intl.DateTimeFormat().resolvedOptions().timeZone : chosen
    // biome-ignore lint/suspicious/noDocumentCookie: the other way to set one is missing in browsers that people use
    document.cookie = `${ZONE_COOKIE}=${name}; path=/; max-age=31536000; samesite=lax`
  }, [chosen])
  return <ServerZone value={zone}>{children}</ServerZone>
}

/** The zone to show times in: at first that of the server's HTML, which would stay where the two differ. */
export function useShownZone(): TimeZone {
  const [chosen] = useTimeZone()
  const written = useContext(ServerZone)
  return useMounted() ? chosen : written
}

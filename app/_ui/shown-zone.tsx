'use client'
import { useMounted } from '@mantine/hooks'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { ZONE_COOKIE } from './server-zone'
import { type TimeZone, useTimeZone } from './time-text'

const ServerZone = createContext('UTC')

/**
 * Passes the zone of the server's HTML to the browser, and the browser's zone to the server for the next page.
 * Otherwise every time would change after loading, and a sentence that wraps would move everything below it.
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

/** The zone for displayed times: first the zone of the server's HTML, because hydration keeps text that differs. */
export function useShownZone(): TimeZone {
  const [chosen] = useTimeZone()
  const written = useContext(ServerZone)
  return useMounted() ? chosen : written
}

'use client'
import { Notifications } from '@mantine/notifications'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { useFocusReturn } from '@/app/_ui/use-focus-return'
import { HealthBanner } from './health-banner'
import { Navigation } from './navigation'
import styles from './shell.module.css'
import { useGlobalKeys } from './use-global-keys'

const Palette = dynamic(() => import('./palette').then((module) => module.Palette), { ssr: false })
const Live = dynamic(() => import('./_live/live').then((module) => module.Live), { ssr: false })
const ShortcutSheet = dynamic(() => import('./shortcuts').then((module) => module.ShortcutSheet), { ssr: false })

/**
 * The frame of every screen: a navigation rail, or a bar at the bottom on phones, and everything that screens share.
 */
export function Shell({ children }: { children: ReactNode }) {
  const [paletteAsked, setPaletteAsked] = useState(0)
  const [sheet, setSheet] = useState<'never' | 'open' | 'closed'>('never')
  const askPalette = () => setPaletteAsked((times) => times + 1)
  const openSheet = () => setSheet('open')
  useFocusReturn()
  useGlobalKeys({ palette: askPalette, sheet: openSheet })
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the page
      </a>
      <Navigation onSearch={askPalette} onKeys={openSheet} />
      <main id="main" className={styles.main} tabIndex={-1}>
        <HealthBanner />
        {children}
      </main>
      <Notifications position="bottom-right" limit={3} />
      {paletteAsked > 0 && <Palette asked={paletteAsked} onKeys={openSheet} />}
      <Live />
      {sheet !== 'never' && <ShortcutSheet opened={sheet === 'open'} onClose={() => setSheet('closed')} />}
    </div>
  )
}

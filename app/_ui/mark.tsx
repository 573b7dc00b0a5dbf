/** The logo: a wheel in the water. Decorative, because the name is next to it. */
export function Mark({ size = 32 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" stroke="currentColor" aria-hidden="true">
      <g strokeWidth="2" strokeLinecap="round">
        <circle cx="16" cy="13" r="7.5" />
        {SPOKES.map((turn) => (
          <path key={turn} d="M16 10V2" transform={`rotate(${turn} 16 13)`} />
        ))}
        <path d="M3 28.5c2.2-2 4.3-2 6.5 0s4.3 2 6.5 0 4.3-2 6.5 0 4.3 2 6.5 0" />
      </g>
      <circle cx="16" cy="13" r="1.75" fill="currentColor" stroke="none" />
    </svg>
  )
}

const SPOKES = [0, 60, 120, 180, 240, 300]

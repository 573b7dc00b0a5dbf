/** Identifies this browser tab until it reloads. `crypto.randomUUID` needs https. */
export const TAB = Array.from({ length: 2 }, () => Math.random().toString(36).slice(2, 12).padEnd(8, '0')).join('')

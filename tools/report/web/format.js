// Numbers as people read them: three digits, a unit, thin differences in percent.

const NUMBER = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Three significant digits, and all of those before the point. */
const digits = (value) => (Math.abs(value) >= 100 ? WHOLE : NUMBER).format(value);
const whole = (value) => WHOLE.format(value);

function scaled(value, units, base) {
  let unit = 0;
  let rest = value;
  while (Math.abs(rest) >= base && unit < units.length - 1) [rest, unit] = [rest / base, unit + 1];
  return [digits(rest), units[unit]];
}

const bytes = (size) => scaled(size, ["B", "KiB", "MiB", "GiB", "TiB"], 1024).join(" ");
const flops = (count, unit = "FLOP") => {
  const [number, prefix] = scaled(count, ["", "k", "M", "G", "T", "P", "E"], 1000);
  return `${number} ${prefix}${unit}`;
};
const cycles = (count) =>
  Math.abs(count) < 1e6 ? `${whole(count)} cycles` : `${scaled(count / 1e6, ["M", "G", "T"], 1000).join(" ")} cycles`;
const shortCycles = (count) => scaled(count, ["", "k", "M", "G", "T"], 1000).join(" ").trim();

function seconds(time) {
  for (const [unit, name] of [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
  ])
    if (time >= unit) return `${digits(time / unit)} ${name}`;
  return time === 0 ? "0 s" : `${digits(time * 1e9)} ns`;
}

/** A share; "-" where there is none. */
function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = share * 100;
  if (value > 0 && value < 0.01) return "<0.01 %";
  return `${Math.abs(value) >= 10 || value === 0 ? value.toFixed(0) : Number(value.toPrecision(value < 1 ? 1 : 2))} %`;
}

/** How much ``now`` differs from ``before``, as "+12 %". */
function change(now, before) {
  if (now === before) return "same";
  if (!before) return "new";
  const value = (now / before - 1) * 100;
  const size = Math.abs(value);
  return `${value > 0 ? "+" : "−"}${size >= 10 ? size.toFixed(0) : size.toPrecision(2)} %`;
}

const UNITS = { cycles, seconds, flops, bytes, share: percent, flops_per_second: (value) => flops(value, "FLOP/s") };

/** "1 tile", "1,500 tiles". */
const counted = (number, noun) => `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;

/** The type whose peak counts: the narrowest that has a share of it. */
const peakType = (shares) => Object.keys(shares).find((type) => shares[type]) ?? "f32";

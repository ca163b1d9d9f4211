// what: prints numbers with the most digits and in every radix
// expect: finished "survived"
for (const value of [5e-324, 1.7976931348623157e308, -0, 0.1, 123456789.123456789, 2 ** 53 + 1]) {
  for (let radix = 2; radix <= 36; radix++) value.toString(radix);
  for (const digits of [0, 20, 100]) {
    value.toFixed(digits);
    value.toExponential(digits);
    if (digits) value.toPrecision(digits);
  }
}
parseFloat("1" + "0".repeat(100000) + "e-100000");
Number("0." + "9".repeat(100000));
return "survived";

import { useEffect, useRef, useState } from 'react';
import { Map as MapIcon, Minus, Plus, Workflow } from 'lucide-react';

const short = (text) => (text.length > 21 ? `…${text.slice(-20)}` : text);

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Diagram = (window.repopilotDiagram ||= function ({ props, callAction }) {
  const { words, boxes, box: [width, height] } = props;
  const [zoom, setZoom] = useState(1);
  const [failed, setFailed] = useState('');
  const subject = useRef(null);
  useEffect(() => { subject.current?.scrollIntoView({ inline: 'center', block: 'nearest' }); }, [props.title]);
  const call = async (name, payload) => {
    const result = await callAction({ name, payload });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
  };
  const open = (box) => box.line && call('open_file', { path: box.path, line: box.line });
  const key = (box) => (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); open(box); } };
  const line = ([from, to, weight], at) => {
    const [a, b] = [boxes[from], boxes[to]];
    const back = a.x >= b.x;
    const [x1, x2] = back ? [a.x, b.x + width] : [a.x + width, b.x];
    const [y1, y2, bend] = [a.y + height / 2, b.y + height / 2, (x1 + x2) / 2];
    return <path key={at} d={`M${x1} ${y1} C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`} className={back ? 'rp-diagram-back' : 'rp-diagram-line'} strokeWidth={1 + 3 * weight} markerEnd="url(#rp-arrow)" />;
  };
  return (
    <section className="rp-code" role="region" aria-label={words.title}>
      <div className="rp-code-head">
        <strong>{props.title}</strong>
        <div className="rp-row rp-tight">
          <button className="rp-button" aria-label={words.smaller} onClick={() => setZoom(Math.max(0.4, zoom / 1.25))}><Minus size={13} /></button>
          <button className="rp-button" aria-label={words.larger} onClick={() => setZoom(Math.min(3, zoom * 1.25))}><Plus size={13} /></button>
          <button className="rp-button" onClick={() => call('show_diagram', { answer: props.answer, map: !props.map })}>
            {props.map ? <Workflow size={13} /> : <MapIcon size={13} />} {props.map ? words.calls : words.map}
          </button>
        </div>
      </div>
      {failed && <div className="rp-error">{failed}</div>}
      <div key={props.title} className="rp-code-scroll" tabIndex={0}>
        <svg className="rp-diagram" width={props.width * zoom} height={props.height * zoom} viewBox={`0 0 ${props.width} ${props.height}`} role="group" aria-label={props.title}>
          <defs><marker id="rp-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z" className="rp-diagram-tip" /></marker></defs>
          {props.heads.map(([x, head]) => <text key={head} x={x} y={24} className="rp-diagram-head">{head}</text>)}
          {props.lines.map(line)}
          {boxes.map((box, at) => (
            <g key={at} ref={box.subject ? subject : null} className={box.subject ? 'rp-diagram-box rp-diagram-subject' : 'rp-diagram-box'} role={box.line ? 'button' : undefined} tabIndex={box.line ? 0 : undefined}
              aria-label={box.line ? `${box.label}, ${box.path}` : undefined} onClick={() => open(box)} onKeyDown={key(box)}>
              <title>{box.line ? `${box.path}:${box.line} ${box.label}` : box.label}</title>
              <rect x={box.x} y={box.y} width={width} height={height} rx={6} />
              <text x={box.x + 8} y={box.y + height / 2 + 4}>{short(box.label)}</text>
            </g>
          ))}
          {props.left_out.map((each) => <text key={each.x} x={each.x + 8} y={each.y + 14} className="rp-diagram-head">{each.label}</text>)}
        </svg>
      </div>
    </section>
  );
});

export default <Diagram props={props} callAction={callAction} />;
